import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/92-deliveries-yield.md
var __pageData = JSON.parse("{\"title\":\"92. Deliveries yield by their own rate\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/92-deliveries-yield.md\",\"filePath\":\"decisions/92-deliveries-yield.md\"}");
var _sfc_main = { name: "decisions/92-deliveries-yield.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_92-deliveries-yield-by-their-own-rate" tabindex="-1">92. Deliveries yield by their own rate <a class="header-anchor" href="#_92-deliveries-yield-by-their-own-rate" aria-label="Permalink to “92. Deliveries yield by their own rate”">​</a></h1><p><strong>Context.</strong> On one machine a launch with e-mails ran at 0.46 of the rate of a launch without. A low CPU priority of the delivery process raised that to 0.63 only. Postgres and the SMTP server work for e-mails at full priority. And where the kernel groups processes by session (autogroup), a nice value counts within a session alone.</p><p><strong>Decision.</strong> A delivery process with a nice value above 0 measures the CPU time of the machine twice a second. While others use more than half of it, the process begins 50 e-mails a second. Afterwards it goes on at full speed. Webhooks do not yield, because partners rely on them during a launch.</p><p><strong>Consequence.</strong> <code>npm run bench -- --launch</code>, commit 5e7a5a00: 0.98 (0.78–1.03). E-mails of a launch are sent after it. An operator who wants them at full speed starts the process without a nice value, or on another machine.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/92-deliveries-yield.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _92_deliveries_yield_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _92_deliveries_yield_default as default };
