//! Refusals: each names file, line, element and the way out.

use super::{INERTIAL, joint, link, load, model};

fn refused(text: &str, parts: &[&str]) {
    let message = match load(text) {
        Ok(robot) => panic!("{text} is read: {:?}", robot.warnings),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn documents_that_are_not_read() {
    refused("<sdf><model name='m'/></sdf>", &["test.sdf:1", "`version`"]);
    refused("<sdf version='1.4'><model name='m'/></sdf>", &["test.sdf:1", "1.4", "1.6 to 1.12", "gz sdf -p"]);
    refused("<sdf version='2.0'><model name='m'/></sdf>", &["2.0", "1.6 to 1.12"]);
    refused("<sdf version='1.6'/>", &["0 <model>", "one <world>"]);
    let two = "<sdf version='1.6'>\n<model name='a'/><model name='b'/></sdf>";
    refused(two, &["test.sdf:1", "2 <model>", "its own file"]);
    refused("<!DOCTYPE sdf [<!ENTITY a 'b'>]><sdf version='1.6'/>", &["test.sdf:1", "entity declarations"]);
    refused("<sdf version='1.6'><model></sdf>", &["test.sdf:1", "not an XML document"]);
    refused("<sdf version='1.6'><model/></sdf>", &["`name`"]);
    let many = "<link name='a'/>".to_owned() + &"<frame/>".repeat(200_001);
    refused(&model(&many), &["200000"]);
}

#[test]
fn names_and_frames() {
    let two = link("a", "") + &link("b", "");
    refused(&model(&(link("a", "") + &link("a", ""))), &["test.sdf:3", "link `a`", "line 2", "rename"]);
    refused(&model("<link/>"), &["test.sdf:2", "`name`"]);
    let frame = "<frame name='f' attached_to='c'/><frame name='g'><pose relative_to='f'/></frame>";
    refused(
        &model(&format!("{two}<frame name='g'><pose relative_to='aa'/></frame>")),
        &["test.sdf:4", "frame `g`", "`aa`", "did you mean `a`?"],
    );
    let attached = frame.replace("'c'", "'nowhere'") + &joint("fixed", "").replace(">a<", ">f<");
    refused(&model(&(two.clone() + &attached)), &["test.sdf:4", "frame `f`", "`nowhere`"]);
    let circle = "<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>";
    refused(&model(&(two.clone() + circle)), &["test.sdf:4", "circle", "frame `f`", "frame `g`", "`__model__`"]);
    let attached = "<frame name='f' attached_to='g'><pose relative_to='a'/></frame>
        <frame name='g' attached_to='f'><pose relative_to='a'/></frame>"
        .to_owned()
        + &joint("fixed", "").replace(">a<", ">f<");
    refused(&model(&(two.clone() + &attached)), &["test.sdf", "attached to no link", "circle"]);
    refused(&model(&(two.clone() + &joint("fixed", "").replace(">b<", ">c<"))), &["test.sdf:4", "joint `j`", "`c`"]);
    refused(&model(&(two.clone() + &joint("fixed", "").replace(">b<", ">a<"))), &["test.sdf:4", "same link"]);
    let loops =
        joint("fixed", "") + &joint("fixed", "").replace("'j'", "'k'").replace(">a<", ">b<").replacen(">b<", ">a<", 2);
    refused(&model(&(two.clone() + &loops)), &["test.sdf:5", "joint `k`"]);
    let again = joint("fixed", "") + &joint("fixed", "").replace("'j'", "'k'");
    refused(&model(&(two + &again)), &["test.sdf:5", "joint `k`", "joint `j` (line 4)", "a robot is a tree"]);
}

#[test]
fn numbers_and_elements() {
    let with = |elements: &str| model(&link("a", elements));
    refused(&with("<pose>1 2 3</pose>"), &["test.sdf:2", "link `a`, <pose>", "`1 2 3`", "6 finite numbers"]);
    refused(&with("<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose>"), &["quaternion is zero", "0 0 0 1"]);
    refused(&with("<pose rotation_format='axis'>0 0 0 0 0 0</pose>"), &["`axis`", "euler_rpy or quat_xyzw"]);
    refused(&with("<pose degrees='yes'>0 0 0 0 0 0</pose>"), &["`yes`", "true or false"]);
    let shape = |shape: &str| with(&format!("<collision name='c'><geometry>{shape}</geometry></collision>"));
    refused(&shape("<sphere><radius>big</radius></sphere>"), &["<collision> `c`", "<radius>", "`big`"]);
    refused(&shape("<box><size>1 -1 1</size></box>"), &["`size`", "-1", "greater than zero"]);
    refused(&shape("<sphere/>"), &["<sphere>", "<radius> is missing"]);
    refused(&shape("<polyline/>"), &["test.sdf:2", "<polyline>", "mesh"]);
    refused(&shape("<heightmap/>"), &["<heightmap>", "mesh"]);
    refused(&shape("<bocks/>"), &["<bocks>", "use box"]);
    refused(&shape(""), &["no known shape"]);
    refused(&shape("<mesh><uri>model://gone/a.obj</uri></mesh>"), &["test.sdf:2", "model://gone/a.obj", "not found"]);
    refused(&shape("<plane><normal>0 0 0</normal></plane>"), &["axis is zero"]);
    refused(&with("<collision name='c'/>"), &["<geometry> is missing"]);
    refused(&with("<static>1</static>").replace(INERTIAL, "<inertial auto='true'/>"), &["automatic", "state mass"]);
    refused(&with("").replace("<mass>1", "<mass>-1"), &["<inertial>", "mass is -1"]);
    refused(&model("<static>perhaps</static>"), &["`perhaps`", "true or false"]);
}

#[test]
fn joints_that_are_not_read() {
    let with = |kind: &str, elements: &str| model(&(link("a", "") + &link("b", "") + &joint(kind, elements)));
    refused(&with("screw", ""), &["test.sdf:4", "joint `j`", "screw", "mimics"]);
    refused(&with("gearbox", ""), &["gearbox", "universal"]);
    refused(&with("revolute", ""), &["joint `j`", "<axis> is missing"]);
    refused(&with("universal", "<axis/>"), &["<axis2> is missing"]);
    refused(&with("revolute", "<axis><xyz>0 0 0</xyz></axis>"), &["<axis>", "axis is zero"]);
    refused(&with("revolute", "<axis><xyz expressed_in='c'>0 0 1</xyz></axis>"), &["<xyz>", "`c`"]);
    let limits = "<axis><limit><lower>2</lower><upper>1</upper></limit></axis>";
    refused(&with("revolute", limits), &["<limit>", "`lower` 2", "`upper` 1", "swap"]);
    refused(&with("revolute", "<axis><dynamics><damping>-1</damping></dynamics></axis>"), &["damping is -1"]);
    refused(&with("revolute", "<axis><mimic/></axis>"), &["<mimic>", "`joint`"]);
}

#[test]
fn includes_that_are_not_read() {
    refused(&model("<include/>"), &["test.sdf:2", "include", "<uri> is missing"]);
    refused(
        &model("<include><uri>model://gone</uri></include>"),
        &["test.sdf:2", "model://gone/model.sdf", "not found"],
    );
    refused(&model("<include><uri>https://fuel.gazebosim.org/1.0/a</uri></include>"), &["test.sdf:2", "https://"]);
    refused(&model("<include><uri>arm.urdf</uri></include>"), &["test.sdf:2", "arm.urdf", "<robot>", "URDF"]);
    refused(&model("<include><uri>circle.sdf</uri></include>"), &["circle.sdf:4", "in a circle", "remove"]);
    let twice = "<include><uri>models/wheel</uri></include>".repeat(2);
    refused(&model(&twice), &["wheel.sdf:3", "`wheel`", "rename"]);
    let fault = "<include><uri>fault.sdf</uri></include>";
    refused(&model(fault), &["fault.sdf:5", "joint `fault::j`", "<limit>"]);
}
