import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/86-npm-start-installs-what-it-runs.md
var __pageData = JSON.parse("{\"title\":\"86. npm start installs only what it runs\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/86-npm-start-installs-what-it-runs.md\",\"filePath\":\"decisions/86-npm-start-installs-what-it-runs.md\"}");
var _sfc_main = { name: "decisions/86-npm-start-installs-what-it-runs.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_86-npm-start-installs-only-what-it-runs" tabindex="-1">86. <code>npm start</code> installs only what it runs <a class="header-anchor" href="#_86-npm-start-installs-only-what-it-runs" aria-label="Permalink to “86. npm start installs only what it runs”">​</a></h1><p><strong>Context.</strong> The first <code>npm start</code> installed every dependency of every workspace: test tools, linters, the documentation site, the benchmark&#39;s rivals. That took 756 MB, most of it never used by somebody who only tries the service.</p><p><strong>Decision.</strong> <code>packages/toolchain/run.mjs</code> installs the production dependencies of the services when one of them is started, and everything when any other command runs. What is installed stays: after <code>npm test</code>, <code>npm start</code> installs nothing, and an update then installs everything again. The pinned Node.js is the only dependency of the workspace&#39;s root.</p><p>The API&#39;s reference page needs one script of 4.4 MB, whose package has 50 MB of source maps and modules. The script is kept in <code>packages/http/browser</code>, compressed. <code>npm run docs:reference</code> copies it from the package, which only the documentation depends on, and a test compares the two. It is sent compressed, which also makes the page load faster.</p><p><strong>Consequence.</strong> 1.2 MB in the repository for each version of that script. A runtime dependency that is listed under <code>devDependencies</code> is missing under <code>npm start</code>; the image is built from the same selection, so its test finds that.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/86-npm-start-installs-what-it-runs.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _86_npm_start_installs_what_it_runs_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _86_npm_start_installs_what_it_runs_default as default };
