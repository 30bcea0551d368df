import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/85-reads-go-to-the-primary.md
var __pageData = JSON.parse("{\"title\":\"85. Reads go to the primary\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/85-reads-go-to-the-primary.md\",\"filePath\":\"decisions/85-reads-go-to-the-primary.md\"}");
var _sfc_main = { name: "decisions/85-reads-go-to-the-primary.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_85-reads-go-to-the-primary" tabindex="-1">85. Reads go to the primary <a class="header-anchor" href="#_85-reads-go-to-the-primary" aria-label="Permalink to “85. Reads go to the primary”">​</a></h1><p><strong>Context.</strong> Get Tickets and lists could be read from a standby that was proven to be recent (<a href="./53-reads-from-a-proven-standby.html">53</a>). Get Tickets and launch are cached for a second: an API reads each event once a second, however many partners ask. Lists are served one at a time per API by a fair queue. The proof cost four statements a second per API, four round trips per read, a setting, a connection pool, and pages that had to come from one server.</p><p><strong>Decision.</strong> All reads go to the primary. <code>DATABASE_REPLICA_URL</code> no longer exists.</p><p><strong>Consequence.</strong> What a partner reads is never behind what it wrote. When lists become a large part of the primary&#39;s work, a larger Postgres comes first. A standby still serves failover; nothing reads from it.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/85-reads-go-to-the-primary.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _85_reads_go_to_the_primary_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _85_reads_go_to_the_primary_default as default };
