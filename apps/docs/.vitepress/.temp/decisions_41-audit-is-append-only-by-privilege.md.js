import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/41-audit-is-append-only-by-privilege.md
var __pageData = JSON.parse("{\"title\":\"41. The audit log is append-only by privilege\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/41-audit-is-append-only-by-privilege.md\",\"filePath\":\"decisions/41-audit-is-append-only-by-privilege.md\"}");
var _sfc_main = { name: "decisions/41-audit-is-append-only-by-privilege.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_41-the-audit-log-is-append-only-by-privilege" tabindex="-1">41. The audit log is append-only by privilege <a class="header-anchor" href="#_41-the-audit-log-is-append-only-by-privilege" aria-label="Permalink to “41. The audit log is append-only by privilege”">​</a></h1><p><strong>Context.</strong> Who changed a limit, a key or a capacity, and when, could not be told afterwards. A log that its writers may change proves little; triggers are code that somebody can drop.</p><p><strong>Decision.</strong> Every operator&#39;s action is a function with a schema and an actor. It writes its audit row in the same transaction as the change. The right to update, delete or truncate the table is taken from the owner, too; the services cannot even read it.</p><p><strong>Consequence.</strong> A change without its row cannot be committed, and a row without its change neither. The owner can take the right back on purpose, but not by mistake nor through a fault in this code; a superuser is not asked (<a href="./../security/threats.html#somebody-inside">Threats</a>). A console will call the same actions.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/41-audit-is-append-only-by-privilege.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _41_audit_is_append_only_by_privilege_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _41_audit_is_append_only_by_privilege_default as default };
