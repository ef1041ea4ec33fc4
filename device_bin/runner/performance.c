#include "performance.h"

#include <string.h>

#include "say.h"
#include "text.h"

enum {
    POWER_MODE_UP = 0x10,   /* performance mode of the voter, DCVS off */
    POWER_MODE_DOWN = 0x4,  /* power saver mode of the voter, DCVS on */
    CORNER_DOWN = 0x30,
    SLEEP_LATENCY_DOWN = 2000,
    RPC_CONTROL_LATENCY = 100,
    MODE_COUNT = 9,
};

struct mode {
    const char *name;
    uint32_t sleep_latency, corner, polling; /* us, voltage corner, us */
};

static const struct mode modes[MODE_COUNT] = {
    {"default", 0, 0, 0},
    {"sustained_high_performance", 100, 0x80, 9999},
    {"burst", 40, 0xa0, 9999},
    {"high_performance", 100, 0x80, 9999},
    {"power_saver", 1000, 0x40, 0},
    {"low_power_saver", 1000, 0x30, 0},
    {"high_power_saver", 1000, 0x50, 0},
    {"low_balanced", 1000, 0x60, 0},
    {"balanced", 1000, 0x70, 0},
};

int performance_mode_of(const char *value) {
    uint64_t number = 0;
    if (parse_number(value, MODE_COUNT - 1, &number)) {
        return (int)number;
    }
    for (int i = 0; i < MODE_COUNT; i++) {
        if (strcmp(modes[i].name, value) == 0) {
            return i;
        }
    }
    return -1;
}

static qnn_power_config dcvs(uint32_t id, bool up, uint32_t sleep_latency, uint32_t corner) {
    qnn_power_config config;
    memset(&config, 0, sizeof(config));
    config.option = QNN_POWER_DCVS_V3;
    qnn_dcvs_v3 *vote = &config.u.dcvs;
    vote->context_id = id;
    vote->set_dcvs_enable = 1;
    vote->dcvs_enable = up ? 0 : 1;
    vote->power_mode = up ? POWER_MODE_UP : POWER_MODE_DOWN;
    vote->set_sleep_latency = 1;
    vote->sleep_latency = sleep_latency;
    vote->set_bus = vote->set_core = 1;
    vote->bus_min = vote->bus_target = vote->bus_max = corner;
    vote->core_min = vote->core_target = vote->core_max = corner;
    return config;
}

static qnn_power_config microseconds(uint32_t option, uint32_t value) {
    qnn_power_config config;
    memset(&config, 0, sizeof(config));
    config.option = option;
    config.u.microseconds = value;
    return config;
}

static qnn_error set_one(const struct performance *vote, const qnn_power_config *config) {
    const qnn_power_config *list[] = {config, NULL};
    return vote->infrastructure->set(vote->id, list);
}

static qnn_error raise_votes(const struct performance *vote, const struct mode *mode) {
    qnn_power_config corner = dcvs(vote->id, true, mode->sleep_latency, mode->corner);
    qnn_power_config latency = microseconds(QNN_POWER_RPC_CONTROL_LATENCY, RPC_CONTROL_LATENCY);
    qnn_power_config polling = microseconds(QNN_POWER_RPC_POLLING_TIME, mode->polling);
    qnn_error error = set_one(vote, &corner);
    if (error == QNN_OK) {
        error = set_one(vote, &latency);
    }
    if (error == QNN_OK && set_one(vote, &polling) != QNN_OK) {
        say("warning: RPC polling was refused (HTP V69 or later has it); the rest of the mode is set");
    }
    return error;
}

bool performance_raise(struct performance *vote, const struct library *library, unsigned mode,
                       struct failure *failure) {
    if (mode == 0) {
        return true;
    }
    qnn_error error = library->get_infrastructure(&vote->infrastructure);
    if (error != QNN_OK || vote->infrastructure == NULL) {
        return fail(failure, error, "deviceGetInfrastructure", "the performance mode can't be set");
    }
    error = vote->infrastructure->create(0, 0, &vote->id);
    if (error != QNN_OK) {
        return fail(failure, error, "createPowerConfigId", "the performance mode can't be set");
    }
    vote->held = true;
    error = raise_votes(vote, &modes[mode]);
    if (error != QNN_OK) {
        return fail(failure, error, "setPowerConfig", "performance mode %s was refused", modes[mode].name);
    }
    return true;
}

bool performance_lower(struct performance *vote, struct failure *failure) {
    if (!vote->held) {
        return true;
    }
    vote->held = false;
    qnn_power_config down = dcvs(vote->id, false, SLEEP_LATENCY_DOWN, CORNER_DOWN);
    qnn_error lowered = set_one(vote, &down);
    qnn_error destroyed = vote->infrastructure->destroy(vote->id);
    if (lowered != QNN_OK) {
        return fail(failure, lowered, "setPowerConfig", "the performance mode couldn't be given back");
    }
    if (destroyed != QNN_OK) {
        return fail(failure, destroyed, "destroyPowerConfigId", "the performance mode couldn't be given back");
    }
    return true;
}
