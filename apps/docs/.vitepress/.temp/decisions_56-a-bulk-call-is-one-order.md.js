import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/56-a-bulk-call-is-one-order.md
var __pageData = JSON.parse("{\"title\":\"56. A bulk call is one order\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/56-a-bulk-call-is-one-order.md\",\"filePath\":\"decisions/56-a-bulk-call-is-one-order.md\"}");
var _sfc_main = { name: "decisions/56-a-bulk-call-is-one-order.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_56-a-bulk-call-is-one-order" tabindex="-1">56. A bulk call is one order <a class="header-anchor" href="#_56-a-bulk-call-is-one-order" aria-label="Permalink to “56. A bulk call is one order”">​</a></h1><p><strong>Context.</strong> A bulk call asks for up to 1,000 seats. It could be taken apart into registrations that go their own ways through the group commit, each with a key made of the call&#39;s. Then it would be cut into several batches, &quot;all or none&quot; would need a transaction over them, and a key for each registration costs as much as the registration.</p><p><strong>Decision.</strong> What waits for a group is an order: one registration, or a whole call, which counts as many seats as it asks for and is never divided. A call that is larger than a group goes alone. It has one row among the idempotency keys, with what became of each and the serials of those who got a seat; the pass codes are read from the registrations. A call without a key gets one that no partner can send, so that after a lost connection it is simply asked again. Who gets a seat is decided in order, by position, in a loop of the function, where not everybody gets one: there &quot;all&quot; gives its seats back, and an attendee who comes twice in one batch is a duplicate of whoever has got a seat before. So rivals for one attendee share a batch, and <a href="./27-rivals-are-few.html">their places</a> are no more.</p><p><strong>Consequence.</strong> A call is exactly-once as a whole, with the same steps as a single registration. One registration that Postgres alone refuses, which validation should never let through, fails its whole call (99).</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/56-a-bulk-call-is-one-order.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _56_a_bulk_call_is_one_order_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _56_a_bulk_call_is_one_order_default as default };
