// A session and a connection own each other by shared_ptr, so neither is freed.
#include <cstdio>
#include <memory>
#include <vector>

struct Session;
struct Connection {
  std::shared_ptr<Session> session;
  char buffer[2000];
};
struct Session {
  std::vector<std::shared_ptr<Connection>> connections;
};

__attribute__((noinline)) static void handle(const std::shared_ptr<Session> &session) {
  auto connection = std::make_shared<Connection>(); // guilty:
  connection->session = session;
  session->connections.push_back(connection);
}

int main() {
  for (int i = 0; i < 10; ++i) {
    auto session = std::make_shared<Session>();
    for (int n = 0; n < 3; ++n)
      handle(session);
    if (i % 2)
      session->connections.clear();
  }
  std::puts("done");
}
