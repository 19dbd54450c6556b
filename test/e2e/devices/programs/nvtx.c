// Sets marks and ranges by NVTX's functions, with and without a domain.
#include <nvtx3/nvToolsExt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *block;

static nvtxEventAttributes_t ascii(const char *text) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

static void *end(void *range) {
  nvtxRangeEnd((nvtxRangeId_t)(size_t)range);
  return NULL;
}

static void in_a_domain(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("my domain");
  char text[] = "registered";
  nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, text);
  memset(text, 'x', sizeof text - 1);
  nvtxEventAttributes_t attributes = ascii(NULL);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = registered;
  printf("%d\n", nvtxDomainRangePushEx(domain, &attributes));
  printf("%d\n", nvtxDomainRangePop(domain));
  attributes = ascii("marked in a domain");
  nvtxDomainMarkEx(domain, &attributes);
  attributes = ascii("ranged in a domain");
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &attributes));
  nvtxDomainDestroy(domain);
}

int main(void) {
  nvtxMarkA("mark");
  nvtxMarkW(L"wide \u00e9 \u20ac \U0001f600");
  const nvtxEventAttributes_t attributes = ascii("attributes");
  nvtxMarkEx(&attributes);
  printf("%d\n", nvtxRangePushA("forward"));
  printf("%d\n", nvtxRangePushW(L"inner"));
  block = malloc(4096); // allocated within the range "inner"
  printf("%d\n", nvtxRangePushEx(&attributes));
  printf("%d\n", nvtxRangePop());
  printf("%d\n", nvtxRangePop());
  printf("%d\n", nvtxRangePop());
  const nvtxRangeId_t range = nvtxRangeStartA("handed over");
  pthread_t thread;
  if (pthread_create(&thread, NULL, end, (void *)(size_t)range) == 0)
    pthread_join(thread, NULL);
  in_a_domain();
  free(block);
  return 0;
}
