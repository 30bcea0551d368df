import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/08-no-foreign-keys-on-registrations.md
var __pageData = JSON.parse("{\"title\":\"8. No foreign keys on registrations\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/08-no-foreign-keys-on-registrations.md\",\"filePath\":\"decisions/08-no-foreign-keys-on-registrations.md\"}");
var _sfc_main = { name: "decisions/08-no-foreign-keys-on-registrations.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_8-no-foreign-keys-on-registrations" tabindex="-1">8. No foreign keys on registrations <a class="header-anchor" href="#_8-no-foreign-keys-on-registrations" aria-label="Permalink to “8. No foreign keys on registrations”">​</a></h1><p><strong>Context.</strong> The statement has locked the ticket already. Row-wise checks would ask once more what is known, at about the price of the insert itself.</p><p><strong>Decision.</strong> <code>registrations</code> has none, and no unique text index. Its rows come from the batch statement only.</p><p><strong>Consequence.</strong> <code>reconcile</code> looks after references.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/08-no-foreign-keys-on-registrations.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _08_no_foreign_keys_on_registrations_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _08_no_foreign_keys_on_registrations_default as default };
