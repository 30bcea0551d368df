import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/99-a-change-of-attendee-is-two-registrations.md
var __pageData = JSON.parse("{\"title\":\"99. A change of attendee is two registrations\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/99-a-change-of-attendee-is-two-registrations.md\",\"filePath\":\"decisions/99-a-change-of-attendee-is-two-registrations.md\"}");
var _sfc_main = { name: "decisions/99-a-change-of-attendee-is-two-registrations.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_99-a-change-of-attendee-is-two-registrations" tabindex="-1">99. A change of attendee is two registrations <a class="header-anchor" href="#_99-a-change-of-attendee-is-two-registrations" aria-label="Permalink to “99. A change of attendee is two registrations”">​</a></h1><p><strong>Context.</strong> A ticket is given to another person. The pass of the first person must become invalid, also at a door without a network, and the second person needs a pass and an e-mail. A new owner under the same pass reference would need passes with a version, a new kind of journal entry, and receivers that understand it.</p><p><strong>Decision.</strong> <code>replace_attendee</code> cancels the registration and inserts a new one, with a batch that finalization confirms, in one transaction. The seat stays taken, so no other buyer gets it, and the ticket is not locked. <code>replaced_by</code> names the successor, so a repeated call gets the same answer. The deadline for partners is the one for cancellations, because the change cancels a registration, and one deadline is easier to know than two. Operators have none. <code>registration correct</code> remains for typos, and keeps the pass.</p><p><strong>Consequence.</strong> Passes, the list of revoked passes, e-mails, list and webhooks work as they did: they see one cancellation and one registration. Partners must store a new pass reference. A registration that is held cannot be changed before it is confirmed.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/99-a-change-of-attendee-is-two-registrations.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _99_a_change_of_attendee_is_two_registrations_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _99_a_change_of_attendee_is_two_registrations_default as default };
