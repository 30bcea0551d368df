import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/95-attendees-are-indexed-later.md
var __pageData = JSON.parse("{\"title\":\"95. Attendees are indexed later\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/95-attendees-are-indexed-later.md\",\"filePath\":\"decisions/95-attendees-are-indexed-later.md\"}");
var _sfc_main = { name: "decisions/95-attendees-are-indexed-later.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_95-attendees-are-indexed-later" tabindex="-1">95. Attendees are indexed later <a class="header-anchor" href="#_95-attendees-are-indexed-later" aria-label="Permalink to “95. Attendees are indexed later”">​</a></h1><p><strong>Context.</strong> Operators look for a person by name or e-mail address among millions of registrations. Two indexes on <code>registrations</code> find them in milliseconds. <code>npm run bench -- --against &lt;without&gt; --only &quot;hot ticket&quot; --pairs 8</code> with these indexes: rate 0.86, CPU of Postgres 1.25, because names and addresses arrive in no order, so each row changes two pages more.</p><p><strong>Decision.</strong> A table <code>attendees</code> has the names and addresses in lower case, with one index for each. The worker fills it from the journal by <code>index_attendees</code>, after the registrations are confirmed. The function reads whole offsets after a cursor per shard, so nobody is missed and nobody is copied twice, and several workers do not disturb each other. During a launch, when 1,000 entries are younger than a second, it copies 1,000 every two seconds; otherwise it goes on without a pause.</p><p><strong>Consequences.</strong> The hot ticket keeps its rate (1.04 with 14 pairs of the same command). A registration is found a few seconds after its confirmation, and after a large launch within minutes: one worker copies 40,000 to 80,000 per second. Attendees&#39; data is stored twice, so whatever erases or corrects it must change both tables. The worker still cannot read names: the function runs as the owner.</p><ul><li><strong>No trigram or text index.</strong> The beginning of a name is what a person on the telephone says; an index on parts of words is three to five times as large.</li><li><strong>A cursor is a serial.</strong> Addresses of pages are kept by proxies, so searches are POST requests and cursors contain no names.</li></ul></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/95-attendees-are-indexed-later.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _95_attendees_are_indexed_later_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _95_attendees_are_indexed_later_default as default };
