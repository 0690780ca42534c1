"use strict";

SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#operations",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  docExpansion: "list",
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  // Nothing leaves this host: by default the page asks a validator on the internet.
  validatorUrl: null,
  // A problem's type leads to its explanation, which moved down when the operations appeared.
  onComplete() {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  },
});
