import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/index.md
var __pageData = JSON.parse("{\"title\":\"\",\"description\":\"\",\"frontmatter\":{\"layout\":\"home\",\"hero\":{\"name\":\"Floodgate\",\"text\":\"Event registration that withstands launch day\",\"tagline\":\"No accepted registration is lost. No seat is sold twice.\",\"actions\":[{\"theme\":\"brand\",\"text\":\"For partners\",\"link\":\"/guide/first-call\"},{\"theme\":\"alt\",\"text\":\"For operators\",\"link\":\"/operate/install\"},{\"theme\":\"alt\",\"text\":\"How it works\",\"link\":\"/how-it-works/\"}]},\"features\":[{\"title\":\"\\\"00\\\" means stored\",\"details\":\"The seat and its pass reference are committed in Postgres before the answer is sent.\",\"link\":\"/how-it-works/exactly-once\"},{\"title\":\"Nothing is lost, nothing is duplicated\",\"details\":\"A test breaks processes, servers and connections under load, and then checks the history.\",\"link\":\"/reliability/faults\"},{\"title\":\"Group commit\",\"details\":\"Registrations that arrive together are committed together.\",\"link\":\"/performance/benchmark\"},{\"title\":\"Partners are isolated\",\"details\":\"The data of another partner looks as if it did not exist. Each claim names its test.\",\"link\":\"/security/threats\"}]},\"headers\":[],\"relativePath\":\"index.md\",\"filePath\":\"index.md\"}");
var _sfc_main = { name: "index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("index.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var docs_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, docs_default as default };
