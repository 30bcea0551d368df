import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/25-room-measured-in-groups.md
var __pageData = JSON.parse("{\"title\":\"25. The waiting room is measured in groups\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/25-room-measured-in-groups.md\",\"filePath\":\"decisions/25-room-measured-in-groups.md\"}");
var _sfc_main = { name: "decisions/25-room-measured-in-groups.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_25-the-waiting-room-is-measured-in-groups" tabindex="-1">25. The waiting room is measured in groups <a class="header-anchor" href="#_25-the-waiting-room-is-measured-in-groups" aria-label="Permalink to “25. The waiting room is measured in groups”">​</a></h1><p><strong>Context.</strong> A room of fixed size is too small for a quick Postgres and too large for a slow one. What waits too long gives nobody a seat sooner, outlives collections of garbage, and has to be worked off afterwards.</p><p><strong>Decision.</strong> The room is measured in groups that can be committed in an eighth of the time for an answer, by the quickest of the last four (<a href="./../how-it-works/overload.html">Overload</a>).</p><p><strong>Consequence.</strong> A full room is worked off at half load in twice its length. Tried: a quarter of the time (the collector&#39;s work alone kept one 90 in a hundred 50 ms and more); the last two groups (hiccups of a busy machine made the room small for a moment, refusals kept the machine busy, and once in six runs half of what could be accepted was lost); a limit of 5,000 (it halved what was accepted where the API&#39;s core is the bottleneck).</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/25-room-measured-in-groups.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _25_room_measured_in_groups_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _25_room_measured_in_groups_default as default };
