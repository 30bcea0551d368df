import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/53-reads-from-a-proven-standby.md
var __pageData = JSON.parse("{\"title\":\"53. A standby is read while it is proven to be recent\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/53-reads-from-a-proven-standby.md\",\"filePath\":\"decisions/53-reads-from-a-proven-standby.md\"}");
var _sfc_main = { name: "decisions/53-reads-from-a-proven-standby.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_53-a-standby-is-read-while-it-is-proven-to-be-recent" tabindex="-1">53. A standby is read while it is proven to be recent <a class="header-anchor" href="#_53-a-standby-is-read-while-it-is-proven-to-be-recent" aria-label="Permalink to “53. A standby is read while it is proven to be recent”">​</a></h1><p>Superseded by <a href="./85-reads-go-to-the-primary.html">85</a>: all reads go to the primary.</p><p><strong>Context.</strong> Get Tickets and lists may be a little outdated, so a standby could answer them. Replication says nothing about how old a standby is: <code>now() - pg_last_xact_replay_timestamp()</code> grows where nobody writes, and stands for nothing where the stream is broken. What Get Tickets promises, at most a second, must stay true.</p><p><strong>Decision.</strong> Each API asks the primary every 250 ms how far it has written, and notes when it asked. A standby that has replayed up to there shows all that had committed by then. It says so in the transaction that reads, before the statement that reads, so behind a balancer or pooler each server speaks for itself. Server identifier and timeline must be the primary&#39;s, and the server a standby: <code>pg_last_wal_replay_lsn()</code> stays where it is after a promotion. No note of the last 500 ms that the standby has reached, an error, or no answer within 250 ms: the primary is read, and for a second only one read tries the standby. The age of Get Tickets&#39; cache counts from the note. A page of the list comes from one server.</p><p><strong>Consequence.</strong> A primary that is away cannot prove anything: reads fail as they do without a standby. A read from the standby takes four round trips (begin, position, read, commit) in place of one; Get Tickets does it once a second for each event and API. After a failover the other standbys are read when their next restartpoint has noted the new timeline, at the latest after <code>checkpoint_timeout</code> and a little. A standby of a server that was promoted by mistake can pass for one of the primary until then.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/53-reads-from-a-proven-standby.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _53_reads_from_a_proven_standby_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _53_reads_from_a_proven_standby_default as default };
