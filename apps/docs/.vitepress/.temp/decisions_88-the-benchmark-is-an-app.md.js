import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/88-the-benchmark-is-an-app.md
var __pageData = JSON.parse("{\"title\":\"88. The benchmark is an app\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/88-the-benchmark-is-an-app.md\",\"filePath\":\"decisions/88-the-benchmark-is-an-app.md\"}");
var _sfc_main = { name: "decisions/88-the-benchmark-is-an-app.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_88-the-benchmark-is-an-app" tabindex="-1">88. The benchmark is an app <a class="header-anchor" href="#_88-the-benchmark-is-an-app" aria-label="Permalink to “88. The benchmark is an app”">​</a></h1><p><strong>Context.</strong> The benchmark lived in <code>test/</code>. It was the largest part there, every test install fetched its peers&#39; libraries, and tests imported from it. What <code>npm start</code> does could not be measured at all, and two measurements were hidden in tests behind environment variables.</p><p><strong>Decision.</strong> <code>apps/bench</code> has its own dependencies. It imports the harness of the tests as the package <code>@floodgate/test</code>; tests never import from it. Figures of an installation (<code>--test-mode</code>, <code>--launch</code>, <code>--mails</code>, <code>--idle</code>) start <code>npm start</code> of a checkout and use only interfaces that stay from release to release: HTTP, the operator&#39;s command, and the tables of events and tickets. So <code>--checkout</code> and <code>--against</code> run older commits as well, from before the benchmark moved.</p><p><strong>Consequence.</strong> Each figure has its bound in the code and is printed with it. Figures of one commit on a shared machine vary by a third; compare the ratios of neighbouring slices, and the CPU time.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/88-the-benchmark-is-an-app.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _88_the_benchmark_is_an_app_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _88_the_benchmark_is_an_app_default as default };
