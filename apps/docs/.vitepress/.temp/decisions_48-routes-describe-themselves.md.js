import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/48-routes-describe-themselves.md
var __pageData = JSON.parse("{\"title\":\"48. Routes describe themselves\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/48-routes-describe-themselves.md\",\"filePath\":\"decisions/48-routes-describe-themselves.md\"}");
var _sfc_main = { name: "decisions/48-routes-describe-themselves.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_48-routes-describe-themselves" tabindex="-1">48. Routes describe themselves <a class="header-anchor" href="#_48-routes-describe-themselves" aria-label="Permalink to “48. Routes describe themselves”">​</a></h1><p><strong>Context.</strong> The rules of fields, headers and codes in the documentation were chosen by the endings of URLs, for one body. A request had a partner&#39;s access and nothing else that it could be from.</p><p><strong>Decision.</strong> A route&#39;s own schema says all of it: headers, codes that it may answer, the rule of each field as its description. The messages of wrong fields and the documentation are made from that, for nested bodies too (<code>registrations[3].emailAddress</code>). Handlers answer with <code>reply.fail(code)</code>, and read one <code>request.principal</code>.</p><p><strong>Consequence.</strong> A new route needs no edit elsewhere to be documented, and a rule cannot differ from what the caller reads of it.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/48-routes-describe-themselves.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _48_routes_describe_themselves_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _48_routes_describe_themselves_default as default };
