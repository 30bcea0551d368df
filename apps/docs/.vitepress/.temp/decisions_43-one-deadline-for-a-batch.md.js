import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/43-one-deadline-for-a-batch.md
var __pageData = JSON.parse("{\"title\":\"43. A batch is a list of parts under one deadline\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/43-one-deadline-for-a-batch.md\",\"filePath\":\"decisions/43-one-deadline-for-a-batch.md\"}");
var _sfc_main = { name: "decisions/43-one-deadline-for-a-batch.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_43-a-batch-is-a-list-of-parts-under-one-deadline" tabindex="-1">43. A batch is a list of parts under one deadline <a class="header-anchor" href="#_43-a-batch-is-a-list-of-parts-under-one-deadline" aria-label="Permalink to “43. A batch is a list of parts under one deadline”">​</a></h1><p><strong>Context.</strong> Splitting, adopting and setting aside called each other in a circle of four functions, each with a deadline that began anew. A batch that was split several times had no deadline as a whole, and one fact had eight types.</p><p><strong>Decision.</strong> A list of parts that are still to be attempted, one deadline for all of them, and one type for the outcome of a reservation, from the statement to the answer.</p><p><strong>Consequence.</strong> The way of a batch can be drawn, and the picture stands above the code. What is not decided at the deadline is answered 90, or 91 where nobody knows.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/43-one-deadline-for-a-batch.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _43_one_deadline_for_a_batch_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _43_one_deadline_for_a_batch_default as default };
