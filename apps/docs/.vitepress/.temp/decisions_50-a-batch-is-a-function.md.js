import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/50-a-batch-is-a-function.md
var __pageData = JSON.parse("{\"title\":\"50. A batch is a function of its shard\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/50-a-batch-is-a-function.md\",\"filePath\":\"decisions/50-a-batch-is-a-function.md\"}");
var _sfc_main = { name: "decisions/50-a-batch-is-a-function.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_50-a-batch-is-a-function-of-its-shard" tabindex="-1">50. A batch is a function of its shard <a class="header-anchor" href="#_50-a-batch-is-a-function-of-its-shard" aria-label="Permalink to “50. A batch is a function of its shard”">​</a></h1><p><strong>Context.</strong> A batch was one statement of nine parts. Citus cannot plan such a statement, and Postgres spent much of its time on joining its parts: for each registration a row of input, of candidates, of outcomes.</p><p><strong>Decision.</strong> The steps are one PL/pgSQL function, called once: look up keys, lock tickets, insert, count, write the batch&#39;s row. What the next step needs is in arrays. Where everybody gets a seat, which is nearly always, nobody is asked one by one. The outcomes come back as one JSON value. The plans are generic, by a setting of the function: Postgres otherwise planned joins with short arrays anew for each batch, since it takes any array for ten elements, a fifth of its CPU in batches of 64. Where the batch wants one ticket that has seats for all, one <code>update</code> locks and counts it. This replaces records <a href="./17-prepared-statements.html">17</a> in part and <a href="./19-outcomes-by-row.html">19</a>.</p><p><strong>Consequence.</strong> Under one hot ticket 1.19 times the registrations per second of the statement (1.13–1.21 in three pairs), for 0.68 (0.59–0.74) of Postgres&#39;s CPU and 0.89 of the API&#39;s, the journal included; under 100 tickets 1.14 times (1.04–1.21) for 0.84 (<code>npm run bench -- --against &lt;a checkout of 75f8e4f&gt;</code>). Generic plans know nothing of the values, and on a table that was never analyzed Postgres takes a shard for one row: so what is looked for is looked for one by one, by its key. The insert itself is most of what is left. The function is part of the schema: a change to it is a migration, and a release may call only the functions of its own schema.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/50-a-batch-is-a-function.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _50_a_batch_is_a_function_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _50_a_batch_is_a_function_default as default };
