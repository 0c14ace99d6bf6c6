%% Processes that call one server, which computes HOLD steps for each call.
-module(one_server).
-export([main/1]).

compute(Value, 0) -> Value;
compute(Value, Steps) -> compute((Value * 1103515245 + 12345) band 16#7fffffff, Steps - 1).

server(State, Hold) ->
    receive
        {From, Value} ->
            New = compute(State bxor Value, Hold),
            From ! done,
            server(New, Hold);
        stop -> ok
    end.

client(_, 0, _, _, Parent) -> Parent ! ended;
client(Server, Left, Own, Think, Parent) ->
    New = compute(Own, Think),
    Server ! {self(), New},
    receive done -> ok end,
    client(Server, Left - 1, New, Think, Parent).

main(Words) ->
    [Threads, Sections, Hold, Think] = [list_to_integer(Word) || Word <- Words],
    Server = spawn(fun() -> server(1, Hold) end),
    Self = self(),
    [spawn(fun() -> client(Server, Sections div Threads, Number, Think, Self) end)
     || Number <- lists:seq(1, Threads)],
    [receive ended -> ok end || _ <- lists:seq(1, Threads)],
    Server ! stop,
    erlang:halt(0).
