import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/93-no-pipelining-of-our-own.md
var __pageData = JSON.parse("{\"title\":\"93. Pipelined answers are written one by one\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/93-no-pipelining-of-our-own.md\",\"filePath\":\"decisions/93-no-pipelining-of-our-own.md\"}");
var _sfc_main = { name: "decisions/93-no-pipelining-of-our-own.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_93-pipelined-answers-are-written-one-by-one" tabindex="-1">93. Pipelined answers are written one by one <a class="header-anchor" href="#_93-pipelined-answers-are-written-one-by-one" aria-label="Permalink to “93. Pipelined answers are written one by one”">​</a></h1><p><strong>Context.</strong> A client that sends requests without waiting for answers was given the answers of one turn of the event loop in one write. To do that, a patch of ours changed methods of live sockets. No browser and hardly any HTTP client pipelines, and the guide asks partners not to.</p><p><strong>Decision.</strong> The patch is gone. Node.js writes each answer by itself, in the order of the requests. Limits of a partner hold for every request, however it came: rate limit, room for bodies, admission queue.</p><p><strong>Consequence.</strong> A client that pipelines costs a write per answer, like everybody else. The server depends less on the inside of Node.js.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/93-no-pipelining-of-our-own.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _93_no_pipelining_of_our_own_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _93_no_pipelining_of_our_own_default as default };
