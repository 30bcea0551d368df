import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/91-what-is-no-action.md
var __pageData = JSON.parse("{\"title\":\"91. A registration is no action\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/91-what-is-no-action.md\",\"filePath\":\"decisions/91-what-is-no-action.md\"}");
var _sfc_main = { name: "decisions/91-what-is-no-action.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_91-a-registration-is-no-action" tabindex="-1">91. A registration is no action <a class="header-anchor" href="#_91-a-registration-is-no-action" aria-label="Permalink to “91. A registration is no action”">​</a></h1><p><strong>Context.</strong> Operators and partners change things through actions, which the audit log records (<a href="./82-one-action-per-operation.html">82</a>). A partner also registers, confirms, cancels and resets a test event. These calls come in thousands a second.</p><p><strong>Decision.</strong> They are no actions. Their record is the journal, which has every registration with its partner, in order. An audit row for each would be a second record of the same fact, and a second write on the path that must be fast. Cancellations and confirmations are grouped like registrations, so a transaction for each with its own audit row would also end the groups. An operator who cancels a registration does it by an action (<code>registration.cancel</code>), because the journal does not say who it was.</p><p><strong>Consequence.</strong> The audit log answers what operators did, and what partners did to their webhooks. The journal answers what happened to a registration. Both ways to cancel end in the same SQL function.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/91-what-is-no-action.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _91_what_is_no_action_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _91_what_is_no_action_default as default };
