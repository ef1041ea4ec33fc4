/* Checks of the runner's pure parts that no whole run reaches: DMA-BUF texts, escaping, numbers. */
#include <stdio.h>
#include <string.h>

#include "proc_text.h"
#include "tensors.h"
#include "text.h"

static int failures;

#define CHECK(condition)                                                \
    do {                                                                \
        if (!(condition)) {                                             \
            printf("line %d: not true: %s\n", __LINE__, #condition);    \
            failures++;                                                 \
        }                                                               \
    } while (0)

static void check_proc(void) {
    /* As kernel 5.14 and later write /proc/self/fdinfo of a DMA-BUF. */
    static const char fdinfo[] = "pos:\t0\nflags:\t02\nmnt_id:\t14\nino:\t77\nsize:\t4194304\ncount:\t3\nexp_name:\tsystem\n";
    static const char status[] = "Name:\tx\nVmHWM:\t  1024 kB\nVmRSS:\t     12 kB\n";
    uint64_t value = 0;
    CHECK(proc_value(fdinfo, "size:", 1, &value) && value == 4194304);
    CHECK(proc_value(fdinfo, "ino:", 1, &value) && value == 77);
    CHECK(!proc_value("pos:\t0\nflags:\t02\n", "size:", 1, &value));
    CHECK(!proc_value("size:\n", "size:", 1, &value) && !proc_value("size:\tmany\n", "size:", 1, &value));
    CHECK(!proc_value("", "size:", 1, &value) && !proc_value("resize: 3\n", "size:", 1, &value));
    CHECK(proc_value(status, "VmRSS:", 1024, &value) && value == 12 * 1024);
    CHECK(proc_value(status, "VmHWM:", 1024, &value) && value == 1024 * 1024);
    CHECK(proc_range("7f12a000-7f12c000 rw-s 00000000 00:0b 77 /dmabuf:") == 0x2000);
    CHECK(proc_range("7f12c000-7f12a000 rw-s") == 0 && proc_range("") == 0 && proc_range("x-y z") == 0);
    CHECK(proc_is_dma_buffer("/dmabuf:") && proc_is_dma_buffer("anon_inode:dmabuf"));
    CHECK(!proc_is_dma_buffer("/dev/null") && !proc_is_dma_buffer("anon_inode:[eventfd]"));
}

static int json_is(const char *value, const char *wanted) {
    char buffer[64];
    struct text text = text_in(buffer, sizeof(buffer));
    text_add_json(&text, value);
    return strcmp(buffer, wanted) == 0;
}

static void check_text(void) {
    char line[] = "a\x1b[31m\xc2\x9b\xff\tb \n";
    char small[4];
    struct text text = text_in(small, sizeof(small));
    CHECK(json_is(NULL, "null") && json_is("", "\"\"") && json_is("a\"\\\n\x7f", "\"a\\\"\\\\\\u000a\\u007f\""));
    CHECK(json_is("\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\""));
    CHECK(json_is("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"")); /* a surrogate */
    CHECK(json_is("\xc0\xaf", "\"\\ufffd\\ufffd\"") && json_is("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""));
    CHECK(json_is("\xe2\x82", "\"\\ufffd\\ufffd\"")); /* cut off */
    make_printable(line);
    CHECK(strcmp(line, "a [31m??? b") == 0);
    text_add(&text, "%s", "abcdef");
    CHECK(text.cut && strcmp(small, "abc") == 0);
}

static void check_numbers(void) {
    uint64_t number = 0;
    CHECK(parse_number("0", 9, &number) && number == 0);
    CHECK(parse_number("18446744073709551615", UINT64_MAX, &number) && number == UINT64_MAX);
    CHECK(!parse_number("18446744073709551616", UINT64_MAX, &number));
    CHECK(!parse_number("", 9, &number) && !parse_number("+1", 9, &number) && !parse_number("1 ", 9, &number));
    CHECK(!parse_number("10", 9, &number));
}

static uint64_t bytes_of(uint32_t type, uint32_t rank, uint32_t *dims) {
    qnn_tensor tensor;
    uint64_t bytes = 0;
    memset(&tensor, 0, sizeof(tensor));
    tensor.data_type = type;
    tensor.rank = rank;
    tensor.dims = dims;
    return tensor_bytes(&tensor, &bytes) ? bytes : 0;
}

static void check_tensors(void) {
    CHECK(bytes_of(0x232, 4, (uint32_t[]){1, 32, 28, 28}) == 100352);
    CHECK(bytes_of(0x408, 4, (uint32_t[]){1, 8, 4, 16}) == 512);
    CHECK(bytes_of(0x064, 1, (uint32_t[]){3}) == 24 && bytes_of(0x416, 1, (uint32_t[]){3}) == 6);
    CHECK(bytes_of(0x232, 0, NULL) == 4); /* a scalar */
    CHECK(bytes_of(0x232, 2, (uint32_t[]){0, 5}) == 0 && bytes_of(0x304, 1, (uint32_t[]){3}) == 0);
    CHECK(bytes_of(0x232, 2, (uint32_t[]){65536, 65536}) == 0); /* more than a buffer's 32 bits */
    CHECK(bytes_of(0x232, 3, (uint32_t[]){0xffffffff, 0xffffffff, 0xffffffff}) == 0);
}

int main(void) {
    check_proc();
    check_text();
    check_numbers();
    check_tensors();
    printf("%d failures\n", failures);
    return failures != 0;
}
