import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/82-one-action-per-operation.md
var __pageData = JSON.parse("{\"title\":\"82. One action per operation\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/82-one-action-per-operation.md\",\"filePath\":\"decisions/82-one-action-per-operation.md\"}");
var _sfc_main = { name: "decisions/82-one-action-per-operation.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_82-one-action-per-operation" tabindex="-1">82. One action per operation <a class="header-anchor" href="#_82-one-action-per-operation" aria-label="Permalink to “82. One action per operation”">​</a></h1><p><strong>Context.</strong> Each operation on a webhook was declared three times: in a route with its transaction, in an action for the command line, and in the command. Schemas differed, and the audit log did not see what partners changed.</p><p><strong>Decision.</strong> <code>packages/webhooks/src/actions.ts</code> has one action per operation: its input, its rules, what it changes, what the audit log records. The actor is an operator, by name, or a partner. A partner reaches its own webhooks under the event of the request only. Expected refusals are values with a response code and a reason. Routes and commands are adapters: they collect the input, call <code>perform</code> and format the result.</p><p>Partners&#39; changes are recorded in the same transaction, in <code>partner_audit_log</code>. <code>audit_log</code> is append-only by privilege (<a href="./41-audit-is-append-only-by-privilege.html">41</a>) and grows by what operators do. A partner could fill it, so partners&#39; entries have a table of their own: they are kept for 90 days, and the latest 1,000 per partner. The delivery process deletes the rest every hour. An action that changes nothing records nothing. <code>floodgate audit</code> shows both.</p><p><strong>Consequence.</strong> Forms and further interfaces call the same actions. An operator&#39;s name cannot start with <code>partner:</code> or <code>device:</code>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/82-one-action-per-operation.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _82_one_action_per_operation_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _82_one_action_per_operation_default as default };
