import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/26-turns-for-answers.md
var __pageData = JSON.parse("{\"title\":\"26. Every 64th refusal gives a turn to answers\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/26-turns-for-answers.md\",\"filePath\":\"decisions/26-turns-for-answers.md\"}");
var _sfc_main = { name: "decisions/26-turns-for-answers.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_26-every-64th-refusal-gives-a-turn-to-answers" tabindex="-1">26. Every 64th refusal gives a turn to answers <a class="header-anchor" href="#_26-every-64th-refusal-gives-a-turn-to-answers" aria-label="Permalink to “26. Every 64th refusal gives a turn to answers”">​</a></h1><p><strong>Context.</strong> Answers were given in a <code>setImmediate</code>. With tens of thousands of sockets that had something to say it came late: at three times the load whole seconds passed with 90 and nothing else.</p><p><strong>Decision.</strong> Refusals are counted, and every 64th takes a turn for the answers that are due.</p><p><strong>Consequence.</strong> Whoever is refused pays with a little of their own time for those who are served (<a href="./../how-it-works/overload.html">Overload</a>).</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/26-turns-for-answers.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _26_turns_for_answers_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _26_turns_for_answers_default as default };
