import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/40-layout-by-capability.md
var __pageData = JSON.parse("{\"title\":\"40. The layout is by capability\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/40-layout-by-capability.md\",\"filePath\":\"decisions/40-layout-by-capability.md\"}");
var _sfc_main = { name: "decisions/40-layout-by-capability.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_40-the-layout-is-by-capability" tabindex="-1">40. The layout is by capability <a class="header-anchor" href="#_40-the-layout-is-by-capability" aria-label="Permalink to “40. The layout is by capability”">​</a></h1><p><strong>Context.</strong> The first layout was by kind: routes in the API, statements in the database package, jobs in the worker, commands in the CLI. It had room for one of each. A webhook would have meant ten new files and fifteen edits in six workspaces.</p><p><strong>Decision.</strong> A package for each ability, from its route to its tests, with small faces (<code>api.ts</code>, <code>worker.ts</code>, <code>cli.ts</code>) that each app lists in one place. Packages below know no capability; a test holds the rule of imports. What cannot be taken back (wire contract, schema, migrations, privileges) stays central, and is reviewed together.</p><p><strong>Consequence.</strong> A new ability touches one folder, its migration and privileges, and one line in each app. The tree says what happens to a registration.</p><p>It costs no speed. Against the release before (b927134), medians of three neighbouring pairs: hot ticket 0.98 of its rate, Get Tickets 1.14, nine reads and one registration mixed 1.24, 500 registrations a second at 1.02 of its median latency (<code>npm run bench -- --against &lt;folder&gt; --pairs 3 --flags=--no-allocation-site-pretenuring</code>, the flag given to both). It costs size: 9,395 lines of product code in place of 8,156, of which about 200 are the audit log.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/40-layout-by-capability.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _40_layout_by_capability_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _40_layout_by_capability_default as default };
