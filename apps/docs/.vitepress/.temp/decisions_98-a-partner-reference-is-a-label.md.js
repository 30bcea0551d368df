import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/98-a-partner-reference-is-a-label.md
var __pageData = JSON.parse("{\"title\":\"98. A partner reference is a label, not a key\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/98-a-partner-reference-is-a-label.md\",\"filePath\":\"decisions/98-a-partner-reference-is-a-label.md\"}");
var _sfc_main = { name: "decisions/98-a-partner-reference-is-a-label.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_98-a-partner-reference-is-a-label-not-a-key" tabindex="-1">98. A partner reference is a label, not a key <a class="header-anchor" href="#_98-a-partner-reference-is-a-label-not-a-key" aria-label="Permalink to “98. A partner reference is a label, not a key”">​</a></h1><p><strong>Context.</strong> Partners want to find registrations by their order number. An order can consist of several calls: two tickets now, one tomorrow, a second basket. If the reference were unique, it would be a second idempotency key with other rules for retries and refusals.</p><p><strong>Decision.</strong> <code>partnerReference</code> is stored on the registration and is not unique. The Idempotency-Key alone makes a call happen once. The reference is part of the request that the key protects. A partial index finds the registrations of a partner under an event, as they are now. Existing answers stay as they are: lists and webhooks contain the reference only if the partner asks for it (<code>include</code>).</p><p><strong>Consequence.</strong> A partner that sends a reference twice without a key registers twice. Registrations without a reference pay nothing for the index. A change of attendee copies the reference, so the look-up of an order also finds the new registration.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/98-a-partner-reference-is-a-label.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _98_a_partner_reference_is_a_label_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _98_a_partner_reference_is_a_label_default as default };
