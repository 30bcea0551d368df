import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// apps/docs/decisions/80-a-moved-event-is-a-newer-edition.md
var __pageData = JSON.parse("{\"title\":\"80. A moved event is a newer edition of its e-mail\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"decisions/80-a-moved-event-is-a-newer-edition.md\",\"filePath\":\"decisions/80-a-moved-event-is-a-newer-edition.md\"}");
var _sfc_main = { name: "decisions/80-a-moved-event-is-a-newer-edition.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_80-a-moved-event-is-a-newer-edition-of-its-e-mail" tabindex="-1">80. A moved event is a newer edition of its e-mail <a class="header-anchor" href="#_80-a-moved-event-is-a-newer-edition-of-its-e-mail" aria-label="Permalink to “80. A moved event is a newer edition of its e-mail”">​</a></h1><p><strong>Context.</strong> When an operator moved an event, every e-mail that had been sent was wrong, and there was no way to send another. The calendar entry always had <code>SEQUENCE:0</code>, so a calendar would have ignored an update.</p><p><strong>Decision.</strong> <code>events.revision</code> rises with every change of the event. It is the SEQUENCE of the calendar entry, whose UID stays. <code>floodgate event update</code> warns how many e-mails are out of date, and <code>--notify-holders</code> queues a delivery of kind <code>event-updated</code> for each registration that has had, or may have had, an older confirmation. The delivery records which revision its e-mail held, so a repeat queues nothing, and a second move replaces updates that still wait.</p><p>The change and the queueing are two transactions. A confirmation that was leased before the change is committed can hold the old time. It is <code>sending</code> or <code>sent</code> when the second transaction looks, so its attendee gets the update. One that is leased later loads the new time. In one transaction there would be a gap between the two.</p><p><strong>Consequence.</strong> A crash between the two transactions leaves the update unsent: run <code>--notify-holders</code> again. The update has no QR code, because a pass names the event and stays valid.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/80-a-moved-event-is-a-newer-edition.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var _80_a_moved_event_is_a_newer_edition_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, _80_a_moved_event_is_a_newer_edition_default as default };
