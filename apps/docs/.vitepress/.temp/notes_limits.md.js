import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/notes/limits.md
var __pageData = JSON.parse("{\"title\":\"Known limits\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"notes/limits.md\",\"filePath\":\"notes/limits.md\"}");
var _sfc_main = { name: "notes/limits.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="known-limits" tabindex="-1">Known limits <a class="header-anchor" href="#known-limits" aria-label="Permalink to “Known limits”">​</a></h1><p>This page lists what the service cannot do, or does differently than you may expect. The linked page of each subject explains the limit:</p><ul><li>one hot ticket is one row: <a href="./../operate/scale.html">Scale</a></li><li>long transactions: <a href="./../operate/servers.html#postgres">Postgres</a></li><li>failover to a standby that is behind: <a href="./../operate/failover.html#asynchronous-replication">Failover</a></li><li>clients that open connections early, half-close, pipeline or offer h2c: <a href="./../guide/first-call.html#connections">First call</a> and <a href="./../how-it-works/http.html">HTTP</a></li><li>rate limits while their shared counter is unavailable, and very small limits: <a href="./../how-it-works/rate-limits.html">Rate limits</a></li><li>what a lock can still block: <a href="./../how-it-works/locked-tickets.html#what-it-does-not-cover">Locked tickets</a></li><li>requests that an API cannot refuse: <a href="./../how-it-works/overload.html#not-the-way-out-of-every-overload">Overload</a></li><li>SIGINT to the process of npm alone: <a href="./../operate/health.html#stopping">Health</a></li><li>webhooks behind a DNS server that does not answer: <a href="./../decisions/67-webhooks-are-a-chain.html">Decision 67</a></li><li>what the audit log does not protect against: <a href="./../security/threats.html#somebody-inside">Threats</a></li><li>what <code>ready</code> does not show: <a href="./../operate/health.html#api">Health</a></li><li>known security risks: <a href="./../security/open.html">Security</a></li><li>performance targets that are not met: <a href="./../performance/benchmark.html#what-it-does-not-reach-yet">Benchmark</a></li></ul></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("notes/limits.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var limits_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, limits_default as default };
