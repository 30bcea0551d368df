import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/37-documentation-site.md
var __pageData = JSON.parse("{\"title\":\"37. The documentation site is VitePress 2\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/37-documentation-site.md\",\"filePath\":\"decisions/37-documentation-site.md\"}");
var _sfc_main = { name: "decisions/37-documentation-site.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_37-the-documentation-site-is-vitepress-2" tabindex="-1">37. The documentation site is VitePress 2 <a class="header-anchor" href="#_37-the-documentation-site-is-vitepress-2" aria-label="Permalink to “37. The documentation site is VitePress 2”">​</a></h1><p><strong>Context.</strong> Two dense documents became some eighty pages, which must read well as plain Markdown in the repository, too. Looked at in November 2026: Starlight (0.42.4, September 2026) is better kept by its stable releases, which come every few weeks. It needs 233 more packages and 135 MB beside ours, wants a front matter in place of a heading, and neither follows nor checks links between <code>.md</code> files without plugins. VitePress 1.6.4, the stable one, is of August 2025 and stands on Vite 5, which is no longer maintained: 96 MB more, and an esbuild with a known vulnerability, which <code>npm run audit</code> does not let pass. VitePress 2 has had an alpha every month or so since July 2026, and stands on Vite 8, which our tests bring anyway: 87 more packages and 60 MB.</p><p><strong>Decision.</strong> VitePress 2.0.0-alpha.20, pinned, with its local search. It follows plain Markdown, and a dead link fails the build. Pictures are text, because they read everywhere and Mermaid would bring a browser&#39;s worth of packages.</p><p><strong>Consequence.</strong> An alpha, for documents only: it is in no image. An install from an empty store takes as long as before (21 to 34 s without it, 16 to 32 s with it, in three turns: the network decides). alpha.21 needs a package that the registry does not have. When 2.0 is out, take it.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/37-documentation-site.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _37_documentation_site_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _37_documentation_site_default as default };
