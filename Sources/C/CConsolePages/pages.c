#include "CConsolePages.h"

// The clang of the Swift toolchain has #embed as an extension; it also notes the files as dependencies of this one.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define HTML "text/html; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define PICTURE "image/svg+xml"

static const unsigned char index_html[] = {
#embed "Pages/index.html"
};
static const unsigned char console_css[] = {
#embed "Pages/console.css"
};
static const unsigned char icon_svg[] = {
#embed "Pages/icon.svg"
};
static const unsigned char base_js[] = {
#embed "Pages/base.js"
};
static const unsigned char console_js[] = {
#embed "Pages/console.js"
};
static const unsigned char charts_js[] = {
#embed "Pages/charts.js"
};
static const unsigned char funnel_js[] = {
#embed "Pages/funnel.js"
};
static const unsigned char letters_js[] = {
#embed "Pages/letters.js"
};
static const unsigned char live_js[] = {
#embed "Pages/live.js"
};
static const unsigned char overview_js[] = {
#embed "Pages/overview.js"
};
static const unsigned char policy_js[] = {
#embed "Pages/policy.js"
};
static const unsigned char replays_js[] = {
#embed "Pages/replays.js"
};
static const unsigned char message_js[] = {
#embed "Pages/message.js"
};
static const unsigned char person_js[] = {
#embed "Pages/person.js"
};
static const unsigned char phone_js[] = {
#embed "Pages/phone.js"
};
static const unsigned char phones_js[] = {
#embed "Pages/phones.js"
};

#define PAGE(name, type, bytes) {name, type, bytes, sizeof bytes}

static const struct console_page pages[] = {
    PAGE("index.html", HTML, index_html), PAGE("console.css", CSS, console_css),
    PAGE("icon.svg", PICTURE, icon_svg),  PAGE("base.js", SCRIPT, base_js),
    PAGE("console.js", SCRIPT, console_js), PAGE("message.js", SCRIPT, message_js),
    PAGE("person.js", SCRIPT, person_js), PAGE("phone.js", SCRIPT, phone_js),
    PAGE("phones.js", SCRIPT, phones_js),
    PAGE("replays.js", SCRIPT, replays_js),
    PAGE("live.js", SCRIPT, live_js),
    PAGE("policy.js", SCRIPT, policy_js),
    PAGE("overview.js", SCRIPT, overview_js),
    PAGE("funnel.js", SCRIPT, funnel_js), PAGE("letters.js", SCRIPT, letters_js),
    PAGE("charts.js", SCRIPT, charts_js),
};

size_t console_page_count(void) { return sizeof pages / sizeof pages[0]; }

struct console_page console_page_at(size_t index) { return pages[index]; }
