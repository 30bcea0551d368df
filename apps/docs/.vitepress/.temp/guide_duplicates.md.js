import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/guide/duplicates.md
var __pageData = JSON.parse("{\"title\":\"Duplicates: one registration per e-mail address\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"guide/duplicates.md\",\"filePath\":\"guide/duplicates.md\"}");
var _sfc_main = { name: "guide/duplicates.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="duplicates-one-registration-per-e-mail-address" tabindex="-1">Duplicates: one registration per e-mail address <a class="header-anchor" href="#duplicates-one-registration-per-e-mail-address" aria-label="Permalink to “Duplicates: one registration per e-mail address”">​</a></h1><p>The operator decides for each event what happens if an e-mail address is registered again. The rule applies to the whole event or to each of its tickets:</p><ul><li><strong>allow</strong> (default): the address gets another seat.</li><li><strong>reject</strong>: the call is answered 33.</li><li><strong>return_existing</strong>: the call is answered &quot;00&quot; with the pass reference of the first registration, and takes no other seat. A form can be sent again, by another person or on another day, and the attendee still has one pass. The name and the other fields of the first registration do not change.</li></ul><p>Upper and lower case in an address make no difference. A <a href="./cancel.html">cancelled</a> registration does not count. A <a href="./holds.html">held</a> registration does. The seats of a <a href="./shop.html">basket</a> have no address yet: Confirm Hold is answered 33 under either rule, and so is a <a href="./change-attendee.html">change of attendee</a>.</p><p>If the first registration belongs to another partner, <code>return_existing</code> also answers 33, because no partner gets a pass of another partner. In a <a href="./groups.html">group</a>, an attendee who is already registered counts as one who has a seat.</p><p>To retry a request, use an <a href="./retries.html">Idempotency-Key</a>, whatever the rule of the event is.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("guide/duplicates.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var duplicates_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, duplicates_default as default };
