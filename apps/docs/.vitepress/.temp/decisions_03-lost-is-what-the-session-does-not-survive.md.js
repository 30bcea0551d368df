import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/03-lost-is-what-the-session-does-not-survive.md
var __pageData = JSON.parse("{\"title\":\"3. Lost is what the session does not survive\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/03-lost-is-what-the-session-does-not-survive.md\",\"filePath\":\"decisions/03-lost-is-what-the-session-does-not-survive.md\"}");
var _sfc_main = { name: "decisions/03-lost-is-what-the-session-does-not-survive.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_3-lost-is-what-the-session-does-not-survive" tabindex="-1">3. Lost is what the session does not survive <a class="header-anchor" href="#_3-lost-is-what-the-session-does-not-survive" aria-label="Permalink to “3. Lost is what the session does not survive”">​</a></h1><p><strong>Context.</strong> Whether an error rolled the statement back decides between 90 and 91. Its severity (ERROR, FATAL) is in the server&#39;s language: on a Postgres that does not speak English every refusal counted as a lost connection. The SQLSTATE does not tell either.</p><p><strong>Decision.</strong> Ask the protocol: after an error an empty query is sent. If the session answers, the statement was rolled back.</p><p><strong>Consequence.</strong> One round trip more after an error, none without. The same on every server, whatever its <code>lc_messages</code>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/03-lost-is-what-the-session-does-not-survive.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _03_lost_is_what_the_session_does_not_survive_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _03_lost_is_what_the_session_does_not_survive_default as default };
