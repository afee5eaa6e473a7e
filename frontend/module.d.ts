// The part of the wasm-bindgen output for platen-frontend that has a fixed name.

declare module "platen-module" {
  /** Loads the compiled module. */
  export default function load(from: { module_or_path: Promise<Response> }): Promise<unknown>;
  /** Prepares the page for hydrating its islands. */
  export function hydrate(): void;
}
