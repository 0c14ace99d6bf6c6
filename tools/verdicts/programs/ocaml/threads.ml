(* Threads of OCaml 4, of which one at a time runs. *)
let compute value steps =
  let value = ref value in
  for _ = 1 to steps do
    value := !value lxor (!value lsl 13);
    value := !value lxor (!value lsr 7);
    value := !value lxor (!value lsl 17);
    ignore (Sys.opaque_identity (ref !value))
  done;
  !value

let () =
  let number at = int_of_string Sys.argv.(at) in
  let threads = number 1 and sections = number 2 and hold = number 3 and think = number 4 in
  let work own =
    let own = ref own in
    for _ = 1 to sections / threads do
      own := compute !own (hold + think)
    done
  in
  let all = List.init threads (fun each -> Thread.create work (each + 1)) in
  List.iter Thread.join all
