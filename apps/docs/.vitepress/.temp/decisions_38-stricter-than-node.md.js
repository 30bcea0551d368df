import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/38-stricter-than-node.md
var __pageData = JSON.parse("{\"title\":\"38. HTTP is read more strictly than Node does\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/38-stricter-than-node.md\",\"filePath\":\"decisions/38-stricter-than-node.md\"}");
var _sfc_main = { name: "decisions/38-stricter-than-node.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_38-http-is-read-more-strictly-than-node-does" tabindex="-1">38. HTTP is read more strictly than Node does <a class="header-anchor" href="#_38-http-is-read-more-strictly-than-node-does" aria-label="Permalink to “38. HTTP is read more strictly than Node does”">​</a></h1><p><strong>Context.</strong> A proxy in front may read what Node lets pass in another way, and so be made to pass on one partner&#39;s request within another&#39;s.</p><p><strong>Decision.</strong> What is ambiguous is refused, and the connection closed (<a href="./../how-it-works/http.html">HTTP</a>).</p><p><strong>Consequence.</strong> Every answer is checked by a fuzzer that reads as strictly as RFC 9112 allows.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/38-stricter-than-node.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _38_stricter_than_node_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _38_stricter_than_node_default as default };
