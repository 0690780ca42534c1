"use strict";

// Accessible names that Swagger UI 5.35 lacks, or that differ from the visible text.
const NAMES = [
  ["textarea.body-param__text", () => "Request body"],
  [".information-container section", () => "About the operations"],
  [".schemes", () => "Authorization"],
  [".close-modal", () => "Close"],
  [".auth.authorize", () => "Authorize: apply credentials"],
  [".responses-table", (table) => `Responses of ${table.closest(".opblock").querySelector(".opblock-summary-path").dataset.path}`],
];

const container = document.getElementById("swagger-ui");
new MutationObserver(() => {
  for (const [selector, nameOf] of NAMES) {
    for (const node of container.querySelectorAll(selector)) node.setAttribute("aria-label", nameOf(node));
  }
}).observe(container, {childList: true, subtree: true});

const dark = matchMedia("(prefers-color-scheme: dark)");
const followColorScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followColorScheme);
followColorScheme();

/** The page has its own title. */
function descriptionOnly(_, {React, getComponent, specSelectors}) {
  return () => {
    const source = specSelectors.info().get("description");
    return React.createElement("div", {className: "wrapper"}, React.createElement(getComponent("Markdown", true), {source}));
  };
}

SwaggerUIBundle({
  url: "/api/openapi.json",
  domNode: container,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [{wrapComponents: {InfoContainer: descriptionOnly, ServersContainer: () => () => null}}],
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
