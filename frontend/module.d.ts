// What wasm-bindgen writes of platen-frontend, as far as it has a fixed name.

declare module "platen-module" {
  /** Loads the compiled module. */
  export default function load(from: { module_or_path: Promise<Response> }): Promise<unknown>;
  /** Makes the page ready for its islands. */
  export function hydrate(): void;
}
