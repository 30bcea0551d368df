import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/34-rate-limit-without-a-plugin.md
var __pageData = JSON.parse("{\"title\":\"34. Rate limiting without the plugin in between\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/34-rate-limit-without-a-plugin.md\",\"filePath\":\"decisions/34-rate-limit-without-a-plugin.md\"}");
var _sfc_main = { name: "decisions/34-rate-limit-without-a-plugin.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_34-rate-limiting-without-the-plugin-in-between" tabindex="-1">34. Rate limiting without the plugin in between <a class="header-anchor" href="#_34-rate-limiting-without-the-plugin-in-between" aria-label="Permalink to “34. Rate limiting without the plugin in between”">​</a></h1><p><strong>Context.</strong> With <a href="./33-rate-limits-from-one-counter.html">a counter</a>, hook, headers and messages of our own, <code>@fastify/rate-limit</code> only passed numbers through, converted on the way in and out.</p><p><strong>Decision.</strong> The hook asks the limiter itself and writes the headers.</p><p><strong>Consequence.</strong> One dependency and one adapter less. What partners see stays the same, byte for byte.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/34-rate-limit-without-a-plugin.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _34_rate_limit_without_a_plugin_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _34_rate_limit_without_a_plugin_default as default };
