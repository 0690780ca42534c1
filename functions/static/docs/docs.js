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
  // The default is a validator on the internet.
  validatorUrl: null,
  // Scroll to the linked problem type again, because the operations have moved it down.
  onComplete() {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  },
});
