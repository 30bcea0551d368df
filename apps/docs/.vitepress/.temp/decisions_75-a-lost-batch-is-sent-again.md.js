import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/75-a-lost-batch-is-sent-again.md
var __pageData = JSON.parse("{\"title\":\"75. A lost batch is sent again with its id\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/75-a-lost-batch-is-sent-again.md\",\"filePath\":\"decisions/75-a-lost-batch-is-sent-again.md\"}");
var _sfc_main = { name: "decisions/75-a-lost-batch-is-sent-again.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_75-a-lost-batch-is-sent-again-with-its-id" tabindex="-1">75. A lost batch is sent again with its id <a class="header-anchor" href="#_75-a-lost-batch-is-sent-again-with-its-id" aria-label="Permalink to “75. A lost batch is sent again with its id”">​</a></h1><p><strong>Context.</strong> After a lost connection nobody knows whether a batch committed. The API used to insert an empty row under the batch&#39;s id (<a href="./02-fence-the-batch-id.html">2</a>). Then it read the registrations of the batch, or reserved everything again under another id. Submissions without a seat were asked again, bulk calls stored a key of their own for this, and shards of a cluster that had not answered were probed first.</p><p><strong>Decision.</strong> <code>reserve_batch</code> is idempotent by the id of the batch. The API calls it again with the same id and says that it is a repeat. The repeat locks the tickets, so it waits for a call that still runs. Then it looks for the batch in a statement of its own, and only if there is none it reserves. A batch in which somebody got no new seat stores its answer as JSON; otherwise the answer follows from the registrations. A repeat inserts a row even without a seat, so that a first call that arrives later fails on the primary key.</p><p>First calls pay one comparison and a null column. A lost part is repeated undivided until it is answered: as long as it is not, the first call may still commit. There is one exception. If a repeat is refused because of a value, the first call has the same value and fails as well, so the part is halved under new ids.</p><p><strong>Consequence.</strong> A batch without a seat has no row, so its repeat is decided again. Its idempotency keys are stored, so refusals with a key stay the same, but have the header <code>Idempotent-Replayed</code>. If the time ends before a repeat is answered, the answer is 91, also where an empty row could have told 90.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/75-a-lost-batch-is-sent-again.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _75_a_lost_batch_is_sent_again_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _75_a_lost_batch_is_sent_again_default as default };
