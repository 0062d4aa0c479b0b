#pragma once
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
