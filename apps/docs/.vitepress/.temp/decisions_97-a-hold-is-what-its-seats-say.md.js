import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/97-a-hold-is-what-its-seats-say.md
var __pageData = JSON.parse("{\"title\":\"97. A hold is what its seats say\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/97-a-hold-is-what-its-seats-say.md\",\"filePath\":\"decisions/97-a-hold-is-what-its-seats-say.md\"}");
var _sfc_main = { name: "decisions/97-a-hold-is-what-its-seats-say.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_97-a-hold-is-what-its-seats-say" tabindex="-1">97. A hold is what its seats say <a class="header-anchor" href="#_97-a-hold-is-what-its-seats-say" aria-label="Permalink to “97. A hold is what its seats say”">​</a></h1><p><strong>Context.</strong> A shop holds the seats of a basket before it knows the names. The design had a table with one row per hold: its reference, its expiry and its state. Registrations had these already, in <code>held_until</code> and <code>cancelled_at</code>.</p><p><strong>Decision.</strong> There is no table of holds. Its seats are held registrations without an attendee, with the same <code>hold_id</code>, and <code>change_holds</code> changes all seats of a call in one transaction. The state and the expiry of a hold are computed from its seats. A row per hold would be a second truth: expiry, cancellation, redrive and resets of test events, which change registrations, would have to change it as well.</p><p><strong>Consequence.</strong> Expiry, share limits, journal, reconciliation and the idempotency key of a call work as for any held registration, without new code. <code>full_name</code> and <code>email_address</code> can be null, and only a confirmation sets them. A partial index on <code>hold_id</code> costs nothing for other registrations. If every seat of a confirmed hold is cancelled later, the hold reads <code>cancelled</code>. A seat that gets another attendee stays part of its hold, because the new registration has the <code>hold_id</code> of the old one.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/97-a-hold-is-what-its-seats-say.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _97_a_hold_is_what_its_seats_say_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _97_a_hold_is_what_its_seats_say_default as default };
