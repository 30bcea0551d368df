import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/14-when-the-next-group-leaves.md
var __pageData = JSON.parse("{\"title\":\"14. The next group leaves when as many wait as are unanswered\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/14-when-the-next-group-leaves.md\",\"filePath\":\"decisions/14-when-the-next-group-leaves.md\"}");
var _sfc_main = { name: "decisions/14-when-the-next-group-leaves.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_14-the-next-group-leaves-when-as-many-wait-as-are-unanswered" tabindex="-1">14. The next group leaves when as many wait as are unanswered <a class="header-anchor" href="#_14-the-next-group-leaves-when-as-many-wait-as-are-unanswered" aria-label="Permalink to “14. The next group leaves when as many wait as are unanswered”">​</a></h1><p><em>Changed by <a href="./74-one-admission-queue.html">74</a>.</em></p><p><strong>Context.</strong> Under load, answering takes as long as committing. If the next group leaves at once, groups are small; if it leaves after the last answer, Postgres and the API take turns.</p><p><strong>Decision.</strong> Neither: the waiting have to be as many as the unanswered first (<a href="./../how-it-works/group-commit.html#the-queue">Group commit</a>).</p><p><strong>Consequence.</strong> One rule in <code>admission-queue.ts</code>, and answers in small turns. Tried and not kept: leaving at half of what is still to be answered.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/14-when-the-next-group-leaves.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _14_when_the_next_group_leaves_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _14_when_the_next_group_leaves_default as default };
