import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/46-scripts-end-with-npm.md
var __pageData = JSON.parse("{\"title\":\"46. Scripts end with npm\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/46-scripts-end-with-npm.md\",\"filePath\":\"decisions/46-scripts-end-with-npm.md\"}");
var _sfc_main = { name: "decisions/46-scripts-end-with-npm.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_46-scripts-end-with-npm" tabindex="-1">46. Scripts end with npm <a class="header-anchor" href="#_46-scripts-end-with-npm" aria-label="Permalink to “46. Scripts end with npm”">​</a></h1><p><strong>Context.</strong> npm runs a script in a shell, the shell starts <code>run.mjs</code>, and that the service. A supervisor knows only npm&#39;s process. SIGTERM, SIGHUP or SIGKILL there ended npm and its shell, and left the service running with nobody above it, still listening.</p><p><strong>Decision.</strong> <code>run.mjs</code> passes signals on, looks four times a second whether npm and its shell are alive, and holds a channel to the service, whose end says that <code>run.mjs</code> itself was killed. <code>exec</code> in the scripts would have spared the shell, but not every platform has one that knows it.</p><p><strong>Consequence.</strong> Whichever of them is ended or killed, the service stops in order. One case is left: SIGINT sent to npm&#39;s process alone goes no further than npm&#39;s shell; Ctrl-C reaches all of them.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/46-scripts-end-with-npm.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _46_scripts_end_with_npm_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _46_scripts_end_with_npm_default as default };
