import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/49-events-live-in-shards.md
var __pageData = JSON.parse("{\"title\":\"49. Events live in shards\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/49-events-live-in-shards.md\",\"filePath\":\"decisions/49-events-live-in-shards.md\"}");
var _sfc_main = { name: "decisions/49-events-live-in-shards.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_49-events-live-in-shards" tabindex="-1">49. Events live in shards <a class="header-anchor" href="#_49-events-live-in-shards" aria-label="Permalink to “49. Events live in shards”">​</a></h1><p><strong>Context.</strong> One Postgres was the ceiling. Citus spreads tables over servers by one column, and needs it in every key.</p><p><strong>Decision.</strong> An event lives in one shard, a small integer that it gets when it is created: the shard with the fewest events. Everything about it carries <code>shard_id</code>, first in every key. A group commit, a batch and a job belong to one shard. Partners, keys, grants and the list of events are the same everywhere. A lock that belongs to the event (advisory, on the coordinator) keeps it in its shard while a ticket is added to it: a lock of its row would need every server. One Postgres has one shard, 0.</p><p>Privileges by column hold on the shards as well: Citus carries them there since 13.1, also with a shard that moves. It does not for identities and system columns, so serials come from a sequence and nothing is named by <code>ctid</code>. It names columns with a default in what it sends, so services may insert those too. A write to the directory is committed on every server in two phases and waits for each, so services write nothing there: when keys were used is a table of the coordinator&#39;s.</p><p><strong>Consequence.</strong> A key is four bytes longer.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/49-events-live-in-shards.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _49_events_live_in_shards_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _49_events_live_in_shards_default as default };
