import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/24-refuse-before-the-body.md
var __pageData = JSON.parse("{\"title\":\"24. 90 is answered before the body is read\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/24-refuse-before-the-body.md\",\"filePath\":\"decisions/24-refuse-before-the-body.md\"}");
var _sfc_main = { name: "decisions/24-refuse-before-the-body.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_24-90-is-answered-before-the-body-is-read" tabindex="-1">24. 90 is answered before the body is read <a class="header-anchor" href="#_24-90-is-answered-before-the-body-is-read" aria-label="Permalink to “24. 90 is answered before the body is read”">​</a></h1><p><strong>Context.</strong> Saying no is paid for by those who are served. A body that is read, parsed and validated only to be refused costs as much as one that is accepted.</p><p><strong>Decision.</strong> The route looks for room in <code>onRequest</code>, behind authentication. Nothing below Fastify is used for it.</p><p><strong>Consequence.</strong> 90 comes before 10 and 11. A way around Fastify was measured and not kept: an answer from Node&#39;s bare <code>request</code> event costs the same.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/24-refuse-before-the-body.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _24_refuse_before_the_body_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _24_refuse_before_the_body_default as default };
