// All files come from this service, and requests that readers try are sent directly to it.
Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  persistAuth: false,
  metaData: { title: "Platen API" },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  authentication: { preferredSecurityScheme: "apiKey" },
  customCss: `
    :root {
      --scalar-font: "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
      --scalar-font-code: "SFMono-Regular", "DejaVu Sans Mono", monospace;
      --scalar-radius: 2px;
      --scalar-radius-lg: 2px;
      --scalar-radius-xl: 2px;
    }
    .light-mode {
      --scalar-background-1: #fcfdfc;
      --scalar-background-2: #f1f4f2;
      --scalar-background-3: #eaeeeb;
      --scalar-color-1: #14191a;
      --scalar-color-2: #434c49;
      --scalar-color-3: #5a6461;
      --scalar-color-accent: #2a31c4;
      --scalar-border-color: #d3dad6;
    }
  `,
});
