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
};

size_t console_page_count(void) { return sizeof pages / sizeof pages[0]; }

struct console_page console_page_at(size_t index) { return pages[index]; }
