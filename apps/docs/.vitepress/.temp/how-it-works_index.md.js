import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/how-it-works/index.md
var __pageData = JSON.parse("{\"title\":\"How it works\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"how-it-works/index.md\",\"filePath\":\"how-it-works/index.md\"}");
var _sfc_main = { name: "how-it-works/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="how-it-works" tabindex="-1">How it works <a class="header-anchor" href="#how-it-works" aria-label="Permalink to “How it works”">​</a></h1><p><code>ARCHITECTURE.md</code>, at the top of the repository, is the overview on one page: the path of a registration, its states, the packages, and the guarantees. These pages follow the path of a registration:</p><ol><li><a href="./http.html">HTTP</a>: which messages are accepted as requests</li><li><a href="./reads.html">Reads and caches</a>: which partner sends the request, and for which event</li><li><a href="./rate-limits.html">Rate limits</a>: whether the partner may send another request now</li><li><a href="./overload.html">Overload</a>: whether the queue has capacity for it</li><li><a href="./group-commit.html">Group commit</a>: how requests are committed together, and what the statement does</li><li><a href="./locked-tickets.html">Locked tickets</a>: what happens if another transaction holds a ticket&#39;s row</li><li><a href="./exactly-once.html">Exactly once</a>: what happens if a connection is lost during a commit</li><li><a href="./outbox.html">Outbox, queue and relay</a>: how a batch is finalized</li></ol><p>After &quot;00&quot; come <a href="./journal.html">shards and the journal</a>, then <a href="./deliveries.html">deliveries</a>.</p><p><a href="./guarantees.html">Guarantees</a> names the file that implements each guarantee.</p><p>All of this uses <a href="./database.html">schema, migrations, privileges</a>, and <a href="./processes.html">processes, settings, log</a>.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("how-it-works/index.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var how_it_works_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, how_it_works_default as default };
