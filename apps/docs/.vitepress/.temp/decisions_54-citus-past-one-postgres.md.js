import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/54-citus-past-one-postgres.md
var __pageData = JSON.parse("{\"title\":\"54. Citus past one Postgres\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/54-citus-past-one-postgres.md\",\"filePath\":\"decisions/54-citus-past-one-postgres.md\"}");
var _sfc_main = { name: "decisions/54-citus-past-one-postgres.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_54-citus-past-one-postgres" tabindex="-1">54. Citus past one Postgres <a class="header-anchor" href="#_54-citus-past-one-postgres" aria-label="Permalink to “54. Citus past one Postgres”">​</a></h1><p><strong>Context.</strong> One Postgres is the ceiling for all events together. Beyond it there are databases that only look like Postgres (CockroachDB, YugabyteDB), an own router over several Postgres, and Citus.</p><p><strong>Decision.</strong> Citus. It is Postgres: its locks, its clock, its commits, the same function on every server. It brings what a router of ours would have to learn: a directory that is the same everywhere, shards that move, roles on all servers. A database that commits by consensus pays for each commit of a hot ticket with a round of its servers, and a group waits for it.</p><p><strong>Licence.</strong> Citus is under the AGPL-3.0, a server beside ours that nobody links to: Floodgate keeps its licence, and so does what calls it. Who changes Citus and offers it over a network has to publish the change. Managed: Azure Database for PostgreSQL with elastic clusters, where every server is an entry (Azure Cosmos DB for PostgreSQL, its predecessor, takes no new projects). Other clouds offer no Citus: there it runs on one&#39;s own machines.</p><p><strong>Consequence.</strong> Every statement that writes names its shard, and what a batch does stays on one server, in one phase. A batch costs more than on one Postgres, so it is a step for those who need it (<a href="./../operate/scale.html#citus">what it costs</a>). It runs <a href="./72-one-engine.html">the same functions</a>. Its servers number serials from 2^48 times their group on: after 31 groups JSON&#39;s numbers end, and the function refuses. The tests run on one Postgres and on a cluster.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/54-citus-past-one-postgres.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _54_citus_past_one_postgres_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _54_citus_past_one_postgres_default as default };
