// A proxy that takes TLS connections and passes what they send on to a plain server, on threads
// that share one event loop, as programs on Boost.Asio do; and, for the measurement, the server
// behind it and the clients before it.
//
//   driver proxy PORT BACKEND THREADS CERTIFICATE KEY
//   driver load PORT BACKEND CLIENTS SECONDS
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using Error = boost::system::error_code;

// A connection and its twin to the server: whatever arrives at one leaves by the other.
class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(asio::io_context &loop, tcp::socket socket, ssl::context &tls, unsigned short backend)
        : backend_port(backend), backend(loop), strand(loop), client(std::move(socket), tls) {}

    void start() {
        auto self = shared_from_this();
        client.async_handshake(ssl::stream_base::server, strand.wrap([self](Error error) {
            if (!error) self->reach();
        }));
    }

  private:
    void reach() {
        auto self = shared_from_this();
        tcp::endpoint to(asio::ip::address_v4::loopback(), backend_port);
        backend.async_connect(to, strand.wrap([self](Error error) {
            if (error) return;
            self->backend.set_option(tcp::no_delay(true));
            self->client.lowest_layer().set_option(tcp::no_delay(true));
            self->pass(self->client, self->backend, self->there);
            self->pass(self->backend, self->client, self->back);
        }));
    }

    template <typename From, typename To, typename Buffer>
    void pass(From &from, To &to, Buffer &buffer) {
        auto self = shared_from_this();
        from.async_read_some(asio::buffer(buffer), strand.wrap([&, self](Error error, size_t read) {
            if (error) return self->close();
            asio::async_write(to, asio::buffer(buffer, read), strand.wrap([&, self](Error error, size_t) {
                if (error) return self->close();
                self->pass(from, to, buffer);
            }));
        }));
    }

    void close() {
        Error ignored;
        backend.close(ignored);
        client.lowest_layer().close(ignored);
    }

    unsigned short backend_port;
    tcp::socket backend;
    asio::io_context::strand strand;
    ssl::stream<tcp::socket> client;
    std::array<char, 4096> there, back;
};

static int proxy(char **words) {
    unsigned short port = std::atoi(words[0]), backend = std::atoi(words[1]);
    int threads = std::atoi(words[2]);
    asio::io_context context(threads);
    ssl::context tls(ssl::context::tls_server);
    tls.use_certificate_chain_file(words[3]);
    tls.use_private_key_file(words[4], ssl::context::pem);
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), port});
    std::function<void()> accept = [&] {
        acceptor.async_accept([&](Error error, tcp::socket socket) {
            if (error) return;
            std::make_shared<Session>(context, std::move(socket), tls, backend)->start();
            accept();
        });
    };
    accept();
    asio::signal_set signals(context, SIGTERM);
    signals.async_wait([&](Error, int) { context.stop(); });
    std::vector<std::thread> others;
    for (int thread = 1; thread < threads; thread++) others.emplace_back([&] { context.run(); });
    context.run();
    for (auto &other : others) other.join();
    return 0;
}

// Sends back whatever comes.
static void echo(tcp::socket socket) {
    std::array<char, 4096> buffer;
    Error error;
    socket.set_option(tcp::no_delay(true));
    for (size_t read; (read = socket.read_some(asio::buffer(buffer), error), !error);)
        asio::write(socket, asio::buffer(buffer, read), error);
}

static int load(char **words) {
    unsigned short port = std::atoi(words[0]), backend = std::atoi(words[1]);
    int clients = std::atoi(words[2]), seconds = std::atoi(words[3]);
    asio::io_context context;
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), backend});
    std::thread([&] {
        for (;;) std::thread(echo, acceptor.accept()).detach();
    }).detach();
    std::atomic<bool> over{false};
    std::atomic<unsigned long> answers{0};
    std::vector<std::thread> threads;
    for (int client = 0; client < clients; client++)
        threads.emplace_back([&] {
            ssl::context tls(ssl::context::tls_client);
            ssl::stream<tcp::socket> stream(context, tls);
            Error error = asio::error::connection_refused;
            while (error) {
                stream.lowest_layer().close();
                stream.lowest_layer().connect({asio::ip::address_v4::loopback(), port}, error);
                if (error) std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }
            stream.lowest_layer().set_option(tcp::no_delay(true));
            stream.handshake(ssl::stream_base::client);
            std::array<char, 100> message{};
            while (!over) {
                asio::write(stream, asio::buffer(message));
                asio::read(stream, asio::buffer(message));
                answers++;
            }
        });
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    over = true;
    for (auto &thread : threads) thread.join();
    std::printf("%lu answers\n", answers.load());
    std::fflush(stdout);
    std::_Exit(0);
}

int main(int count, char **words) {
    if (count == 7 && !std::strcmp(words[1], "proxy")) return proxy(words + 2);
    if (count == 6 && !std::strcmp(words[1], "load")) return load(words + 2);
    std::fprintf(stderr,
                 "usage: %s proxy PORT BACKEND THREADS CERTIFICATE KEY\n"
                 "       %s load PORT BACKEND CLIENTS SECONDS\n",
                 words[0], words[0]);
    return 2;
}
