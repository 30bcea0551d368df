import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/36-log-to-standard-output-that-nobody-reads.md
var __pageData = JSON.parse("{\"title\":\"36. A log that nobody reads stops nobody\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/36-log-to-standard-output-that-nobody-reads.md\",\"filePath\":\"decisions/36-log-to-standard-output-that-nobody-reads.md\"}");
var _sfc_main = { name: "decisions/36-log-to-standard-output-that-nobody-reads.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_36-a-log-that-nobody-reads-stops-nobody" tabindex="-1">36. A log that nobody reads stops nobody <a class="header-anchor" href="#_36-a-log-that-nobody-reads-stops-nobody" aria-label="Permalink to “36. A log that nobody reads stops nobody”">​</a></h1><p><strong>Context.</strong> Pino&#39;s default destination writes synchronously. A full pipe stops the event loop, and a full disk ends the process. Standard output of Node stays broken on a file after its first failure.</p><p><strong>Decision.</strong> Lines wait for their reader up to a limit, and are dropped and counted above it (<a href="./../how-it-works/processes.html#log">Log</a>).</p><p><strong>Consequence.</strong> A log may have gaps, and says so. Pino&#39;s own asynchronous destination (<code>sync: false, maxLength</code>) was tried in its place: it writes what is left when the process exits, and with a pipe that nobody reads the process was still there 5 s after SIGTERM. Nothing is accepted or refused because of it.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/36-log-to-standard-output-that-nobody-reads.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _36_log_to_standard_output_that_nobody_reads_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _36_log_to_standard_output_that_nobody_reads_default as default };
