import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/45-api-reference.md
var __pageData = JSON.parse("{\"title\":\"45. The API reference is Scalar's page, served as a file\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/45-api-reference.md\",\"filePath\":\"decisions/45-api-reference.md\"}");
var _sfc_main = { name: "decisions/45-api-reference.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_45-the-api-reference-is-scalar-s-page-served-as-a-file" tabindex="-1">45. The API reference is Scalar&#39;s page, served as a file <a class="header-anchor" href="#_45-the-api-reference-is-scalar-s-page-served-as-a-file" aria-label="Permalink to “45. The API reference is Scalar&#39;s page, served as a file”">​</a></h1><p><strong>Context.</strong> Swagger UI filled &quot;Try it out&quot; with random characters, and was unreadable on a phone and in the dark. Scalar&#39;s page has examples in several languages, light, dark and small. <code>@scalar/fastify-api-reference</code> would serve it, but it holds the script (4.4 MB) as a string in every API process, and adds routes that answer any origin (CORS <code>*</code>).</p><p><strong>Decision.</strong> <code>@scalar/api-reference</code>, of which nothing is used but the script that is built for browsers. Our own page names it, and <code>@fastify/static</code> streams it from the disk. A content security policy lets the page speak to this server only. What the script was built from is overridden away in <code>pnpm-workspace.yaml</code>, because the script holds it already.</p><p>Superseded in part by <a href="./86-npm-start-installs-what-it-runs.html">86</a>: the script is a file of this repository.</p><p><strong>Consequence.</strong> No memory of the API&#39;s, no route of somebody else&#39;s, no request to anybody outside. Each new version of the package is to be looked at for the path of that script, which it does not export.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/45-api-reference.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _45_api_reference_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _45_api_reference_default as default };
