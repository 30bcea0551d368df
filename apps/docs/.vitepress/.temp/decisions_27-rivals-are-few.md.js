import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/27-rivals-are-few.md
var __pageData = JSON.parse("{\"title\":\"27. Sixteen of one attendee may wait\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/27-rivals-are-few.md\",\"filePath\":\"decisions/27-rivals-are-few.md\"}");
var _sfc_main = { name: "decisions/27-rivals-are-few.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_27-sixteen-of-one-attendee-may-wait" tabindex="-1">27. Sixteen of one attendee may wait <a class="header-anchor" href="#_27-sixteen-of-one-attendee-may-wait" aria-label="Permalink to “27. Sixteen of one attendee may wait”">​</a></h1><p><strong>Context.</strong> Where duplicates are rejected, registrations of one attendee never share a group. One address, repeated thousands of times, filled the waiting room for everybody.</p><p><strong>Decision.</strong> Sixteen of one attendee may wait; further ones are answered 90.</p><p><strong>Consequence.</strong> Who repeats themselves waits alone. Replaced by <a href="./56-a-bulk-call-is-one-order.html">56</a>: rivals share a batch.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/27-rivals-are-few.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _27_rivals_are_few_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _27_rivals_are_few_default as default };
